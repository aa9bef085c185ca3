import { BOUNDS } from '../bounds.ts';
import { ModelError } from '../errors.ts';
import { describeMissingResponse, UnreadableBody } from '../response.ts';
import type { TextResponse } from '../transport/text.ts';
import type { TextRequest } from '../transport/types.ts';
import type { SignedRequest } from '../wire-model.ts';
import type { AwsKeys, Search } from './keys.ts';

/** Requests to AWS services that return keys. No error quotes a header or a body. */

type RequestParts = Pick<TextRequest, 'method' | 'url'> & Partial<Pick<TextRequest, 'headers' | 'body'>>;

/** `by`: the service, for the error. @throws ModelError when there is no response */
export const ask = async (
  { text, signal }: Pick<Search, 'text' | 'signal'>,
  request: RequestParts,
  by: string,
): Promise<Pick<TextResponse, 'status' | 'body'>> => {
  try {
    return await text({ headers: {}, ...request, most: BOUNDS.tokenBytes, signal });
  } catch (error) {
    if (error instanceof UnreadableBody) return { status: error.status, body: '' };
    throw new ModelError('provider', `${by}: ${describeMissingResponse(error)}`);
  }
};

const CODE = /^[A-Za-z][A-Za-z.]{0,79}$/;

/** Codes of a status 400 for which the same request may succeed later. */
const PASSING = ['Throttling', 'ThrottlingException', 'IDPCommunicationError'];

/** `code`: the service's error code. Its message may quote the request and is not used. */
export const refusal = (by: string, status: number, code: string | undefined): ModelError => {
  const named = code !== undefined && CODE.test(code) ? code : undefined;
  const passes = status >= 500 || status === 429 || (named !== undefined && PASSING.includes(named));
  const what = [`status ${status}`, ...(named === undefined ? [] : [named])].join(', ');
  return new ModelError(passes ? 'provider' : 'unauthorized', `${by} returned no keys (${what})`, { status });
};

/** Headers with the signature of a request (Signature Version 4). */
export const signRequest = async (
  { method, url, body }: Pick<SignedRequest, 'method' | 'url' | 'body'>,
  { keys, region, service, now }: { keys: AwsKeys; region: string; service: string; now: number },
): Promise<Record<string, string>> => {
  // The module is loaded when the first request is signed.
  const { AwsV4Signer } = await import('aws4fetch');
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new AwsV4Signer({
    method,
    url,
    ...(body !== undefined && { body }),
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service,
    region,
    datetime: new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  return Object.fromEntries([...signed.headers].filter(([name]) => name !== 'host'));
};
