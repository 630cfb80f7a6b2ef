// node v2.mjs SERVER MODE: a session of @modelcontextprotocol/client (v2) with SERVER.
// MODE is legacy, auto, or the revision to insist on.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { session } from './session.mjs';

const [command, mode] = process.argv.slice(2);
const client = new Client(
  { name: 'interop', version: '1.0.0' },
  { versionNegotiation: { mode: mode === 'legacy' || mode === 'auto' ? mode : { pin: mode } } },
);

await session(client, new StdioClientTransport({ command }), () => client.getNegotiatedProtocolVersion());
