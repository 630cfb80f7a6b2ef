// node tour1.mjs TARGET: the tour of @modelcontextprotocol/sdk (v1) at TARGET, a URL or a program.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { tour } from './tour.mjs';

const target = process.argv[2];
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: ['-stdio'] });
let version; // which this client says only to its transport
const set = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => {
  version = agreed;
  set?.(agreed);
};
const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities: { elicitation: {} } });

await tour(client, transport, {
  version: () => version,
  resultSchema: [CallToolResultSchema],
  onAsk: (handler) => client.setRequestHandler(ElicitRequestSchema, (request) => handler(request.params)),
  onUpdate: (handler) => client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => handler(n.params)),
  watch: (uri) => client.subscribeResource({ uri }),
});
