import { createHash, createHmac } from 'node:crypto';
import type { SeenRequest } from '../sse-server.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The `authorization` header that a request must have (Signature Version 4, as AWS documents it). */
export const signatureOf = (
  { url, headers, body }: Pick<SeenRequest, 'url' | 'headers' | 'body'>,
  { secret, region, id, service }: { secret: string; region: string; id: string; service: string },
): string => {
  const date = String(headers['x-amz-date']);
  const names = ['host', 'x-amz-date', ...(headers['x-amz-security-token'] ? ['x-amz-security-token'] : [])];
  const canonical = [
    'POST',
    url
      .split('/')
      .map((part) => encodeURIComponent(part))
      .join('/'),
    '',
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
  const key = scope.split('/').reduce((given: string | Buffer, part) => hmac(given, part), `AWS4${secret}`);
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
};
