import type { Json } from '../../schema/endpoint.ts';
import { inexactInteger, inexactText } from '../../schema/exact-integers.ts';
import { RemoteFailure } from './failure.ts';
import { parseRefusal } from './wire.ts';

/** Reads bodies of a remote service up to a limit; every problem is a `RemoteFailure`. */

/** Artifacts may contain files. */
export const LARGEST_BYTES = 16 * 1024 * 1024;
const LARGEST_ERROR = 64 * 1024;

export const readAnswer = async (response: Response): Promise<Json> =>
  jsonIn(await readText(response, LARGEST_BYTES), 'the response');

/** @throws RemoteFailure */
export const jsonIn = (text: string, what: string): Json => {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    // The text of the remote service is not quoted.
    throw new RemoteFailure('unreadable', `${what} is not JSON`);
  }
  const inexact = inexactInteger(text);
  if (inexact !== undefined) throw new RemoteFailure('unreadable', `${what}: ${inexactText(inexact)}`);
  return value;
};

/** Reads the reason of an error response. */
export const refusedBy = async (response: Response): Promise<RemoteFailure> => {
  const { status } = response;
  const { text, reason } = await readText(response, LARGEST_ERROR)
    .then((body) => parseRefusal(JSON.parse(body)))
    .catch(() => ({ text: undefined, reason: undefined }));
  const description = [text, reason && `(${reason})`].filter(Boolean).join(' ');
  return new RemoteFailure('refused', description ? `status ${status}: ${description}` : `status ${status}`, {
    status,
    reason,
  });
};

/** @throws RemoteFailure */
const readText = async (response: Response, largest: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      // Leaving the loop cancels the rest.
      if (bytes > largest)
        throw new RemoteFailure('unreadable', `the response has more than ${largest} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof RemoteFailure) throw cause;
    const why = cause instanceof Error && cause.name === 'TimeoutError' ? 'timed out' : 'was interrupted';
    throw new RemoteFailure('unreachable', `the response ${why}`, { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
};
