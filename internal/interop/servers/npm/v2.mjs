// A server on the TypeScript SDK v2: on standard input and output, or with a port as its argument over HTTP there.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

function newServer() {
  const server = new McpServer({ name: 'v2', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('add', {
    description: 'Add two integers',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  }, async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }));
  server.registerTool('fail', { description: 'Fail' }, async () => ({ isError: true, content: [{ type: 'text', text: 'no luck' }] }));
  server.registerResource('note', 'test://note', { mimeType: 'text/plain' }, async (uri) => ({ contents: [{ uri: uri.href, text: 'a note' }] }));
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }));
  return server;
}

if (process.argv[2]) {
  createServer(toNodeHandler(createMcpHandler(newServer))).listen(Number(process.argv[2]), '127.0.0.1');
} else {
  await serveStdio(newServer);
}
