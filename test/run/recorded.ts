import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answered, listeners } from '../service/http.ts';

/**
 * Records responses that tests receive from services, a few of each kind, in one file per process. The last test of a
 * run checks them against the OpenAPI document. Tests with separate routes are excluded.
 */

export type RecordedAnswer = {
  /** The test that received it. */
  file: string;
  method: string;
  path: string;
  status: number;
  /** The content-type header; null if absent. */
  type: string | null;
  body: string;
};

const RECORDED = /^test\/(?:service|client|e2e|interop|a2a-kit|mcp|programs)\/|^test\/docs\/examples/;

const OF_A_KIND = 3;
const MOST_CHARACTERS = 262_144;

export type Recorder = {
  /** Assigns subsequent responses to this test file. */
  begin(file: string): void;
  /** Writes the recorded responses. */
  end(): Promise<void>;
};

/** Records responses of requests in this process. */
export const recordAnswers = (folder: string): Recorder => {
  const answers: RecordedAnswer[] = [];
  const reading = new Set<Promise<void>>();
  const seen = new Map<string, number>();
  let current = '';
  const isNew = (kind: string): boolean => {
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    return count <= OF_A_KIND;
  };
  /** True if the response is to be recorded. */
  const isWanted = (method: string, url: string, status: number, headers: Headers): boolean => {
    if (!RECORDED.test(current) || !isOfService(headers)) return false;
    const { hostname, pathname } = new URL(url);
    return hostname === '127.0.0.1' && isNew(`${method} ${shapeOf(pathname)} ${status}`);
  };
  const keep = (file: string, { method, url, status, headers, body }: Answered): void => {
    if (body.length > MOST_CHARACTERS) return;
    const { pathname: path } = new URL(url);
    answers.push({ file, method, path, status, type: headers.get('content-type'), body });
  };
  listeners.add((answered) => {
    const method = answered.method.toLowerCase();
    const { url, status, headers } = answered;
    if (isWanted(method, url, status, headers)) keep(current, { ...answered, method });
  });
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toLowerCase();
    const { url, status, headers } = response;
    if (!isWanted(method, url, status, headers)) return response;
    const file = current;
    // An interrupted body has no complete shape to check.
    const kept = response
      .clone()
      .text()
      .then((body) => keep(file, { method, url, status, headers, body }))
      .catch(() => {});
    reading.add(kept);
    kept.finally(() => reading.delete(kept));
    return response;
  };
  return {
    begin(file) {
      current = file;
    },
    async end() {
      current = '';
      await Promise.all(reading);
      if (answers.length === 0) return;
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, `${process.pid}.ndjson`),
        answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''),
      );
    },
  };
};

/** True for complete responses of the service; false for streams. */
const isOfService = (headers: Headers): boolean =>
  headers.has('x-request-id') && !headers.get('content-type')?.startsWith('text/event-stream');

/** Replaces ids, which follow a name in the path of a route. */
const shapeOf = (path: string): string => path.replace(/(?<=\/)[^/]*(?:\d|[A-Z_-]{2,})[^/]*/g, '*');

/** Responses recorded by all processes of a run. */
export const readAnswers = (folder: string): RecordedAnswer[] =>
  existsSync(folder)
    ? readdirSync(folder).flatMap((name) =>
        readFileSync(join(folder, name), 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      )
    : [];
