import { foldHistory } from '../plugins/context/fold.ts';
import { isRewound, type Message } from '../schema/message.ts';
import { pickModelSettings } from '../schema/model-settings.ts';
import type { RecordedInference } from '../schema/recorded-inference.ts';
import type { Run } from '../schema/run.ts';
import type { ResolvedAgent } from './agent.ts';
import { withFrontendTools } from './frontend-tools.ts';
import { modelHistory } from './history.ts';

/**
 * Rebuilds the input of an inference from the rows of its thread and the publication of its run, by the rules of
 * `request.ts`. Texts and tools that plugins added or withheld are not stored, so they are not part of it.
 */

/** @param isWhole whether `history` starts with the first message of the thread, which folding relies on */
export const recordedMessages = (history: readonly Message[], isWhole: boolean): readonly Message[] =>
  modelHistory(isWhole ? foldHistory(history) : history.filter((message) => !isRewound(message)));

export const recordedPrompt = (
  agent: ResolvedAgent,
  { activation }: Pick<Run, 'activation'>,
): Pick<RecordedInference, 'system' | 'settings' | 'tools'> => {
  const { spec, tools } = withFrontendTools(agent, activation?.options.frontend_tools);
  return {
    system: spec.system_prompt,
    settings: { ...pickModelSettings(spec), ...activation?.options.overrides },
    tools: Array.from(tools.values(), ({ descriptor }) => descriptor),
  };
};
