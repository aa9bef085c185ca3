import { EventStreamCodec } from '@smithy/eventstream-codec';

const CODEC = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);

const text = (value: string) => ({ type: 'string', value }) as const;

/** A frame of `application/vnd.amazon.eventstream`. */
export const frame = (type: string, body: unknown, kind: 'event' | 'exception' = 'event'): Buffer =>
  Buffer.from(
    CODEC.encode({
      headers: {
        [`:${kind}-type`]: text(type),
        ':content-type': text('application/json'),
        ':message-type': text(kind),
      },
      body: Buffer.from(JSON.stringify(body)),
    }),
  );

export const errorFrame = (code: string, message: string): Buffer =>
  Buffer.from(
    CODEC.encode({
      headers: {
        ':message-type': text('error'),
        ':error-code': text(code),
        ':error-message': text(message),
      },
      body: new Uint8Array(),
    }),
  );
