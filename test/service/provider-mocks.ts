import type { IncomingHttpHeaders } from 'node:http';
import type { Test } from 'tap';
import type { JsonObject } from '../../src/schema/json.ts';
import { startSseServer } from '../models/sse-server.ts';
import { FORMATS, modelIn, type Reply } from './provider-formats.ts';

/**
 * Model providers of every wire format behind one address. Each rejects the requests that the real service is
 * documented to reject, and otherwise streams the next reply.
 */

export type SentRequest = {
  format: string;
  model: string;
  body: JsonObject;
  rejected: string | undefined;
};

export type Providers = {
  url: string;
  /** Oldest first. */
  requests: SentRequest[];
  /** Pending replies by format. */
  replies: Map<string, Reply[]>;
};

/** The mark in a model's reasoning, at every position that its service requires back. */
export const markOf = ({ format, model }: Pick<SentRequest, 'format' | 'model'>): string =>
  `reasoning<${format} ${model}>`;

/** The distinct marks in a request. */
export const marksIn = ({ body }: SentRequest): string[] => [
  ...new Set(JSON.stringify(body).match(/reasoning<[^>]+>/g)),
];

export const startProviders = async (t: Test): Promise<Providers> => {
  const requests: Providers['requests'] = [];
  const replies: Providers['replies'] = new Map();
  const { url } = await startSseServer(t, (response, { url, headers, body: text }) => {
    const [, name = '', path = ''] = /^\/([^/]+)\/(.*)$/.exec(url) ?? [];
    const format = FORMATS[name];
    const fail = (status: number, body: object, more: object = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    };
    if (!format || text === '') {
      fail(404, { error: { message: 'Not found' } });
      return;
    }
    const body: JsonObject = JSON.parse(text);
    const rejected = format.rejects({ path, headers: textsOf(headers), body });
    const request = { format: name, model: modelIn({ path, body }), body, rejected };
    requests.push(request);
    if (rejected !== undefined) {
      fail(400, { error: { message: rejected, type: 'invalid_request_error', status: 'INVALID_ARGUMENT' } });
      return;
    }
    const reply = replies.get(name)?.shift() ?? { kind: 'answer', text: 'nothing was prepared' };
    if (reply.kind === 'overload') {
      fail(format.overload.status, format.overload.body, format.overload.headers);
      return;
    }
    response.writeHead(200, { 'content-type': format.contentType });
    for (const chunk of format.stream(reply, markOf(request))) response.write(chunk);
    response.end();
  });
  return { url, requests, replies };
};

const textsOf = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
