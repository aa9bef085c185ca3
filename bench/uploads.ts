import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { createRunBody } from '../src/load-generator/index.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { BenchError } from './error.ts';
import { playLoad } from './load.ts';
import type { Measured, Round } from './row.ts';
import { type Server, startTroupe, stopAll } from './servers.ts';
import { peakResidentKiB, resetPeak, residentKiB, usageFrom } from './usage.ts';

/**
 * Uploads of a large file (openai.md 13): the memory of the service while it receives one, and the rate next to a durable
 * copy of the same bytes, on both HTTP servers, as a body that is the file and as a multipart body.
 */

const MIB = 1024 * 1024;
const UPLOADS = 5;

const FORMS = ['raw', 'multipart'] as const;
type Form = (typeof FORMS)[number];

const File = z.object({ id: z.string() });

/** The client of `fetch` takes longer than the service, so that the parts of the body are written to a plain request. */
const upload = async (server: Server, form: Form, bytes: Uint8Array): Promise<void> => {
  const { id } = File.parse(JSON.parse(await post(server, form, bytes)));
  await fetch(`${server.url}/v1/files/${id}`, { method: 'DELETE' });
};

const post = ({ url }: Server, form: Form, bytes: Uint8Array): Promise<string> => {
  const { path, type, parts } = form === 'raw' ? rawBody(bytes) : multipartBody(bytes);
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return new Promise((resolve, reject) => {
    const sent = request(url + path, {
      method: 'POST',
      headers: { 'content-type': type, 'content-length': length },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(body);
        else reject(new BenchError(`an upload got ${response.statusCode}: ${body}`));
      }, reject);
    });
    for (const part of parts) sent.write(part);
    sent.end();
  });
};

type Body = { path: string; type: string; parts: readonly Uint8Array[] };

const rawBody = (bytes: Uint8Array): Body => ({
  path: '/v1/files?purpose=user_data&filename=a.bin',
  type: 'application/octet-stream',
  parts: [bytes],
});

const BOUNDARY = 'bench-boundary';

const partHead = (fields: string, more = ''): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; ${fields}\r\n${more}\r\n`;

const BEFORE_FILE = Buffer.from(
  `${partHead('name="purpose"')}user_data\r\n${partHead('name="file"; filename="a.bin"', 'content-type: application/octet-stream\r\n')}`,
);

const BEHIND_FILE = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

const multipartBody = (bytes: Uint8Array): Body => ({
  path: '/v1/files',
  type: `multipart/form-data; boundary=${BOUNDARY}`,
  parts: [BEFORE_FILE, bytes, BEHIND_FILE],
});

const timed = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** Copies the file and flushes the copy, as an upload does. */
const copy = (from: string): void => {
  execFileSync('sh', ['-c', 'cp "$1" "$1.copy" && sync "$1.copy"', 'sh', from]);
  rmSync(`${from}.copy`);
};

const measure = async (
  context: Context,
  server: Server,
  form: Form,
): Promise<{ memory: Round; rate: Round }> => {
  const mib = context.short ? 4 : 64;
  const bytes = new Uint8Array(randomBytes(mib * MIB));
  const source = join(context.folder(), 'a.bin');
  // The heap reaches its usual size under load, and the code of uploads is loaded with the first one.
  await playLoad(server, {
    connections: 16,
    streams: context.short ? 50 : 3000,
    body: createRunBody('bench'),
  });
  for (let count = 0; count < UPLOADS; count += 1) await upload(server, form, bytes.subarray(0, 4096));
  const before = residentKiB(server.process.pid);
  resetPeak(server.process.pid);
  const usage = usageFrom(server.process.pid);
  const rates: number[] = [];
  const copies: number[] = [];
  for (let count = 0; count < UPLOADS; count += 1) {
    // Each content is stored once, so each upload has another one.
    bytes[0] = count;
    writeFileSync(source, bytes);
    rates.push(mib / ((await timed(() => upload(server, form, bytes))) / 1000));
    copies.push(mib / ((await timed(() => copy(source))) / 1000));
  }
  const value = Math.max(0, peakResidentKiB(server.process.pid) - before);
  const shares = { [server.name]: usage().granted };
  return { memory: { value }, rate: { value: Math.max(...rates), baseline: Math.max(...copies), shares } };
};

export const uploads: Benchmark = {
  name: 'uploads',
  title: 'uploads of 64 MiB to a warm server, one after the other, against a copy and its flush',
  async run(context) {
    const measured: Measured[] = [];
    for (const [flag, name] of [
      ['uws', 'uWebSockets.js'],
      ['node', 'node:http'],
    ] as const) {
      const server = await startTroupe(context, { flags: ['--http-server', flag] });
      for (const form of FORMS) {
        const { memory, rate } = await measure(context, server, form);
        measured.push(
          {
            metric: `memory of an upload, ${name}, ${form} body`,
            unit: 'KiB',
            aim: { of: 'value', most: 8192 },
            rounds: [memory],
          },
          {
            metric: `rate of an upload, ${name}, ${form} body`,
            unit: 'MiB/s',
            better: 'higher',
            baseline: 'cp and sync',
            aim: { of: 'ratio', least: 0.5 },
            rounds: [rate],
          },
        );
      }
      await stopAll([server]);
    }
    return measured;
  },
};
