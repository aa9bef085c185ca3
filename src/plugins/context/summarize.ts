import { DEAF } from '../../models/deaf.ts';
import type { InferenceEnd, Model } from '../../models/model.ts';
import type { SummaryPrompt } from './summary.ts';

/** One answer of a model as text, without tools. @throws ModelError */
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
      ...DEAF,
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
