import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

const upload = async ({ url }: Server, form: Form, bytes: Uint8Array<ArrayBuffer>): Promise<void> => {
  const response = await fetch(
    `${url}/v1/files${form === 'raw' ? '?purpose=user_data&filename=a.bin' : ''}`,
    {
      method: 'POST',
      body: form === 'raw' ? bytes : multipart(bytes),
    },
  );
  const text = await response.text();
  if (!response.ok) throw new BenchError(`an upload got ${response.status}: ${text}`);
  const { id } = File.parse(JSON.parse(text));
  await fetch(`${url}/v1/files/${id}`, { method: 'DELETE' });
};

const multipart = (bytes: Uint8Array<ArrayBuffer>): FormData => {
  const form = new FormData();
  form.append('purpose', 'user_data');
  form.append('file', new Blob([bytes]), 'a.bin');
  return form;
};

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
