import { connect } from 'node:net';

/**
 * A stdio server whose script is in the process of the test: it passes on what it hears and says what it is told.
 * Its first line to the test says who it is.
 *
 *     node relay.mjs PORT [stubborn]
 *
 * `stubborn`: it does not end with its input, nor when it is asked to.
 */

const [port, mood] = process.argv.slice(2);
const line = connect(Number(port), '127.0.0.1');
line.write(`${JSON.stringify({ pid: process.pid, env: process.env, cwd: process.cwd() })}\n`);
line.pipe(process.stdout);
process.stdin.pipe(line, { end: mood !== 'stubborn' });
if (mood === 'stubborn') for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
else line.on('close', () => process.exit());
line.on('error', () => process.exit(1));
process.stdout.on('error', () => process.exit(1));
