// node tour2.mjs TARGET MODE: the tour of @modelcontextprotocol/client (v2) at TARGET, a URL or a program.
// MODE is legacy or auto.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { tour } from './tour.mjs';

const [target, mode] = process.argv.slice(2);
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: ['-stdio'] });
const client = new Client(
  { name: 'interop', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
);

await tour(client, transport, {
  version: () => client.getNegotiatedProtocolVersion(),
  resultSchema: [],
  onAsk: (handler) => client.setRequestHandler('elicitation/create', (request) => handler(request.params)),
  onUpdate: (handler) => client.setNotificationHandler('notifications/resources/updated', (n) => handler(n.params)),
  watch: (uri) => (mode === 'legacy' ? client.subscribeResource({ uri }) : client.listen({ resourceSubscriptions: [uri] })),
});
