// What every client does with the server, printed as one JSON object for the Go test to judge.
export async function session(client, transport, version) {
  const faults = [];
  client.onerror = (err) => faults.push(String(err));

  await client.connect(transport);
  const seen = {
    version: version(),
    server: client.getServerVersion(),
    tools: (await client.listTools()).tools,
    greet: await call(client, 'greet', { name: 'Ada' }),
    missingArgument: await call(client, 'greet', {}),
    wrongType: await call(client, 'greet', { name: 7 }),
    unknownTool: await call(client, 'no-such-tool', {}),
    greetAgain: await call(client, 'greet', { name: 'Grace' }),
  };
  await client.close();
  console.log(JSON.stringify({ ...seen, faults }));
}

// call resolves to { result } or, for a JSON-RPC error, to { error }.
async function call(client, name, args) {
  try {
    return { result: await client.callTool({ name, arguments: args }) };
  } catch (err) {
    return { error: { code: err.code, message: err.message } };
  }
}
