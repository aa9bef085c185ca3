import type { InferenceSink, Model } from '../../models/model.ts';
import type { SummaryPrompt } from './summary.ts';

/** One answer of a model as text, without tools. @throws ModelError */
export const summarize = async (
  model: Model,
  { system, user, max_tokens, upstream_model }: SummaryPrompt,
  signal: AbortSignal,
): Promise<string> => {
  let text = '';
  const sink: InferenceSink = {
    text(delta) {
      text += delta;
    },
    reset() {
      text = '';
    },
    reasoning: ignore,
    reasoningEncrypted: ignore,
    toolStart: ignore,
    toolDelta: ignore,
    toolEnd: ignore,
  };
  await model.stream(
    {
      system: system === '' ? [] : [system],
      messages: [{ id: 'summarize', role: 'user', content: [{ type: 'text', text: user }] }],
      tools: [],
      overrides: { max_tokens, ...(upstream_model !== undefined && { upstream_model }) },
    },
    sink,
    signal,
  );
  return text;
};

const ignore = (): void => {};
