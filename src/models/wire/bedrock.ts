import { AMAZON_FRAMES } from '../transport/frames.ts';
import { bedrockDecoder } from './bedrock-decode.ts';
import { encodeConverse } from './bedrock-encode.ts';
import type { Wire } from './wire.ts';

/** Amazon Bedrock's ConverseStream, for the models of all companies. */
export const bedrockWire = (): Wire => ({
  format: 'bedrock',
  framing: AMAZON_FRAMES,
  encode: encodeConverse,
  decoder: bedrockDecoder,
});
