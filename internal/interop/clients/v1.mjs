// node v1.mjs SERVER: a session of @modelcontextprotocol/sdk (v1) with SERVER.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { session } from './session.mjs';

// This client says the agreed version only to its transport.
let version;
const transport = new StdioClientTransport({ command: process.argv[2] });
transport.setProtocolVersion = (agreed) => (version = agreed);

await session(new Client({ name: 'interop', version: '1.0.0' }), transport, () => version);
