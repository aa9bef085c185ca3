import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * A minimal MCP server over stdio: initialize, tools/list, tools/call. It responds strictly in order, and the called
 * tool selects its behavior. `BEHAVIOUR` names a fault that it has from its start.
 */

const { BEHAVIOUR = '', TOOLS = '', PID_FILE } = process.env;
if (PID_FILE) writeFileSync(PID_FILE, String(process.pid));
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

let names =
  TOOLS === ''
    ? ['echo', 'env', 'pid', 'die', 'hang', 'big', 'grow', 'ask', 'lines', 'work']
    : TOOLS.split(',');
const seen = [];
let initialized;

const tools = {
  echo: ({ message = '' }) => text(message),
  env: () => text(JSON.stringify(process.env)),
  pid: () => text(String(process.pid)),
  init: () => text(JSON.stringify(initialized)),
  seen: () => text(JSON.stringify(seen)),
  big: ({ bytes }) => text('x'.repeat(bytes)),
  deep: () => ({ content: [], structuredContent: JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) }),
  fail: () => ({ ...text('it did not work'), isError: true }),
  grow: ({ name }) => {
    names = [...names, name];
    for (let times = 0; times < 100; times += 1) write({ method: 'notifications/tools/list_changed' });
    return text('grown');
  },
  die: () => process.exit(3),
};

const progress = (token, times) => {
  for (let at = 1; at <= times; at += 1) {
    write({ method: 'notifications/progress', params: { progressToken: token, progress: at, total: times } });
  }
};

const answer = ({ id, method, params = {} }) => {
  if (method === 'initialize') {
    initialized = params;
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: 'scripted', version: '1' };
    return write({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  }
  if (method === 'tools/list') {
    if (BEHAVIOUR === 'listless') return write({ id, error: { code: -32603, message: 'no list' } });
    const offered = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
    return write({ id, result: { tools: offered } });
  }
  if (method !== 'tools/call')
    return write({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  const { name, arguments: args = {}, _meta = {} } = params;
  if (name === 'hang') return undefined;
  if (name === 'ask') {
    pending.set('q1', (answered) => write({ id, result: text(JSON.stringify(answered)) }));
    return write({ id: 'q1', method: args.method, params: args.params });
  }
  // Writes the lines of the test, then waits for the response to the id 'q1' if requested.
  if (name === 'lines') {
    const answered = (reply) => write({ id, result: text(JSON.stringify(reply)) });
    pending.set('q1', answered);
    for (const line of args.lines) process.stdout.write(`${line}\n`);
    return args.waits ? undefined : answered(null);
  }
  if (name === 'work') {
    progress(_meta.progressToken, args.times);
    return write({ id, result: text('worked') });
  }
  if (name === 'late') {
    const { every, times } = args;
    let at = 0;
    const timer = setInterval(() => {
      at += 1;
      write({
        method: 'notifications/progress',
        params: { progressToken: _meta.progressToken, progress: at },
      });
      if (at < times) return;
      clearInterval(timer);
      write({ id, result: text('late') });
    }, every);
    return undefined;
  }
  if (!tools[name]) return write({ id, error: { code: -32602, message: `no tool ${name}` } });
  return write({ id, result: tools[name](args) });
};

const pending = new Map();

const begin = () => {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = JSON.parse(line);
    seen.push(message);
    const { id, method } = message;
    if (method === undefined) return pending.get(id)?.(message);
    return id === undefined ? undefined : answer(message);
  });
  if (BEHAVIOUR !== 'stubborn') lines.on('close', () => process.exit(0));
};

if (BEHAVIOUR === 'dead') {
  process.stderr.write(`cannot start with ${process.env.TOKEN}\n`);
  process.exitCode = 1;
} else if (BEHAVIOUR === 'hanging') {
  process.stdin.resume();
} else {
  if (BEHAVIOUR === 'noisy') {
    process.stdout.write('hello, I am no message\n{"a":1}\n\n[1,2]\n');
    for (let times = 0; times < 2000; times += 1) process.stderr.write(`${'e'.repeat(1000)}\n`);
  }
  if (BEHAVIOUR === 'stubborn') {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
  }
  begin();
}
