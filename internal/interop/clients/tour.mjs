// What every client does with the library of examples/tour, printed as one JSON object for the Go test to judge.
// how says what differs between clients: version(), onAsk(handler), onUpdate(handler) and watch(uri).
export async function tour(client, transport, how) {
  const faults = [];
  client.onerror = (err) => faults.push(String(err));
  let answer = () => ({ action: 'cancel' });
  how.onAsk((params) => answer(params));
  const updated = waiting();
  how.onUpdate((params) => updated.done(params.uri));

  await client.connect(transport);
  const seen = { version: how.version(), tools: (await client.listTools()).tools.map((t) => t.name) };
  seen.found = (await client.callTool({ name: 'search_books', arguments: { text: 'go' } })).content[0].text;

  const asked = [];
  answer = (params) => {
    asked.push(params.message);
    return { action: 'accept', content: asked.length === 1 ? { name: 'Ada', email: 'ada@example.com' } : {} };
  };
  seen.joined = text(await client.callTool({ name: 'join_library', arguments: {} }));
  seen.asked = asked;
  answer = () => ({ action: 'decline' });
  seen.declined = text(await client.callTool({ name: 'join_library', arguments: {} }));

  const progress = [];
  seen.counted = text(
    await client.callTool({ name: 'stocktake', arguments: {} }, ...how.resultSchema, { onprogress: (p) => progress.push(p.progress) }),
  );
  seen.progress = progress;

  const open = waiting();
  const abort = new AbortController();
  answer = () => {
    open.done();
    return new Promise((resolve) => abort.signal.addEventListener('abort', () => resolve({ action: 'cancel' }))); // the user thinks
  };
  const cancelled = client
    .callTool({ name: 'join_library', arguments: {} }, ...how.resultSchema, { signal: abort.signal })
    .then(() => 'answered', () => 'cancelled');
  await open.wait;
  abort.abort('enough');
  seen.cancelled = await cancelled;

  seen.rules = (await client.readResource({ uri: 'library://rules' })).contents[0].text;
  seen.missing = await client.readResource({ uri: 'library://books/none' }).catch((err) => err.code);
  await how.watch('library://loans');
  await client.callTool({ name: 'lend_book', arguments: { isbn: '978-0134190440', reader: 'Ada' } });
  seen.updated = await updated.wait;
  seen.prompt = (await client.getPrompt({ name: 'recommend', arguments: { topic: 'design' } })).messages[0].content.text;
  await client.close();
  console.log(JSON.stringify({ ...seen, faults }));
}

function text(result) {
  return (result.isError ? 'failed: ' : '') + result.content[0].text;
}

function waiting() {
  let done;
  const wait = new Promise((resolve) => (done = resolve));
  return { wait, done };
}
