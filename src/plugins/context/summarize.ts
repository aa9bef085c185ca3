import type { InferenceEnd, Model } from '../../models/model.ts';
import { NOOP_SINK } from '../../models/noop-sink.ts';
import type { SummaryPrompt } from './summary.ts';

/** Returns one completion of a model as text, without tools. @throws ModelError */
export const summarize = async (
  model: Model,
  { system, user, max_tokens, upstream_model }: SummaryPrompt,
  signal: AbortSignal,
): Promise<{ text: string; end: InferenceEnd }> => {
  let text = '';
  const end = await model.stream(
    {
      system: system === '' ? [] : [system],
      messages: [{ id: 'summarize', role: 'user', content: [{ type: 'text', text: user }] }],
      tools: [],
      overrides: { max_tokens, ...(upstream_model !== undefined && { upstream_model }) },
    },
    {
      ...NOOP_SINK,
      text(delta) {
        text += delta;
      },
      reset() {
        text = '';
      },
    },
    signal,
  );
  return { text, end };
};
