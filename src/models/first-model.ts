import type { ProviderSpec } from '../schema/model.ts';
import { addressOf, listRequestOf, sendListRequest } from './list-request.ts';
import { firstName } from './model-list.ts';
import { BOUNDS } from './transport/bounds.ts';
import { readText } from './transport.ts';

/**
 * The first model that a server lists, for an address that was given without the name of a model. Costs one request,
 * whose key goes where inferences go.
 */
export type FirstModel = { upstream: string } | { problem: string };

const LONGEST_WAIT_MS = 5000;

/** @throws Invalid when the address or the key cannot be used at all */
export const readFirstModel = async (spec: ProviderSpec): Promise<FirstModel> => {
  const request = listRequestOf(withSchema(spec), {});
  if (!request) return { problem: 'base_url leads to no list of models' };
  const address = addressOf(request.url);
  try {
    const response = await sendListRequest(request, AbortSignal.timeout(LONGEST_WAIT_MS));
    if (!response.ok) {
      await response.body?.cancel();
      return { problem: `${address}: status ${response.status}` };
    }
    const upstream = firstName(request.schema, JSON.parse(await readText(response, BOUNDS.listBytes)));
    return upstream === undefined ? { problem: `${address} lists no model` } : { upstream };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: `${address}: the response is not JSON` };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

/** Most servers have the list of OpenAI's protocol, whatever adapter speaks to them. */
const withSchema = (spec: ProviderSpec): ProviderSpec =>
  spec.adapter === 'gemini'
    ? spec
    : { ...spec, adapter_options: { ...spec.adapter_options, model_discovery_schema: 'openai' } };
