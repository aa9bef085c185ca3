import { request } from 'node:http';
import type { Readable } from 'node:stream';
import { ask } from '../http.ts';

/** Requests of the file routes, whose bodies are bytes. */

export type FileAnswer = { status: number; headers: Headers; body: Record<string, unknown> };

export type Uploading = {
  purpose?: string | undefined;
  filename?: string;
  type?: string;
  fields?: Record<string, string>;
  headers?: Record<string, string>;
};

/** Uploads as OpenAI's SDK does. */
export const upload = async (
  url: string,
  bytes: Uint8Array<ArrayBuffer> | string,
  { purpose = 'user_data', filename = 'a.txt', type = '', fields = {}, headers = {} }: Uploading = {},
): Promise<FileAnswer> => {
  const form = new FormData();
  form.append('file', new Blob([bytes], { type }), filename);
  form.append('purpose', purpose);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const response = await fetch(`${url}/v1/files`, { method: 'POST', body: form, headers });
  return { status: response.status, headers: response.headers, body: await bodyOf(response) };
};

const bodyOf = async (response: Response): Promise<Record<string, unknown>> =>
  JSON.parse(await response.text());

export const get = async (
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; bytes: Buffer }> => {
  const response = await fetch(`${url}${path}`, { headers });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
};

export const list = async (url: string, query = '') => {
  const got = await ask(`${url}/v1/files${query}`);
  return JSON.parse(await got.text()) as {
    data: { id: string; filename: string; sha256: string; bytes: number }[];
    has_more: boolean;
    first_id: string | null;
    last_id: string | null;
  };
};

export const remove = async (url: string, id: string, headers: Record<string, string> = {}) => {
  const got = await ask(`${url}/v1/files/${id}`, { method: 'DELETE', headers });
  return { status: got.status, body: JSON.parse(await got.text()) };
};

/** Sends a body from a stream; resolves with the status, or rejects when the connection ends. */
export const send = (
  url: string,
  path: string,
  { body, headers }: { body: Readable; headers: Record<string, string> },
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> =>
  new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method: 'POST', headers });
    sent.once('error', reject);
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
      );
      response.once('error', reject);
    });
    body.on('error', (error) => sent.destroy(error));
    body.pipe(sent);
  });
