import { anthropicDecoder } from './anthropic-decode.ts';
import { encodeMessages } from './anthropic-encode.ts';
import type { Wire } from './wire.ts';

/** Anthropic's Messages protocol, version 2023-06-01, streaming. */
export const anthropicWire = (): Wire => ({
  format: 'anthropic',
  encode: encodeMessages,
  decoder: anthropicDecoder,
});
