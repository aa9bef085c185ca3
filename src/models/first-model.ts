import type { ProviderSpec } from '../schema/model.ts';
import { BOUNDS } from './bounds.ts';
import { addressOf, createListRequest, sendListRequest } from './list-request.ts';
import { firstName } from './model-list.ts';
import type { Transport } from './transport/types.ts';

/**
 * Finds the first model that a server lists, for an address that was given without a model name.
 * Cost: one request, whose key is sent to the same address as inferences.
 */
export type FirstModel = { upstream: string } | { problem: string };

const LONGEST_WAIT_MS = 5000;

/** @throws Invalid when the address or the key is unusable */
export const readFirstModel = async (
  spec: ProviderSpec,
  transport: Pick<Transport, 'text'>,
): Promise<FirstModel> => {
  const request = createListRequest(withSchema(spec), {
    env: {},
    tokens: { text: transport.text, now: () => Date.now() },
  });
  if (!request) return { problem: 'base_url leads to no list of models' };
  const address = addressOf(request.url);
  try {
    const signal = AbortSignal.timeout(LONGEST_WAIT_MS);
    const { status, body } = await sendListRequest(transport, request, { most: BOUNDS.listBytes, signal });
    if (status >= 300) return { problem: `${address}: status ${status}` };
    const upstream = firstName(request.schema, JSON.parse(body));
    return upstream === undefined ? { problem: `${address} lists no model` } : { upstream };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: `${address}: the response is not JSON` };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

/** Most servers offer the list of OpenAI's protocol, regardless of the adapter. */
const withSchema = (spec: ProviderSpec): ProviderSpec =>
  spec.adapter === 'gemini'
    ? spec
    : { ...spec, adapter_options: { ...spec.adapter_options, model_discovery_schema: 'openai' } };
