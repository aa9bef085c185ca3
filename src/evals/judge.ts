import { z } from 'zod';
import { BOUNDS, excerpt } from '../models/bounds.ts';
import type { InferenceEnd, InferenceRequest, Model } from '../models/model.ts';
import { NOOP_SINK } from '../models/noop-sink.ts';
import type { Message, Role } from '../schema/message.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';
import { withoutFence } from './score.ts';

/** A model that scores a completion (evals-and-traces.md 5.4). */

export type Verdict = { score: number; reasoning: string | undefined };

export type Judged = {
  /** Texts of the user, oldest first. */
  inputs: readonly string[];
  answer: string;
  rubric: string;
};

const SYSTEM =
  'You judge answers of an assistant. Reply with a single JSON object and nothing else: {"score": <a number from 0 to 1>, "reasoning": "<short>"}.';

const instruction = (rubric: string): string =>
  `Judge the answer above by this rubric:\n\n${rubric}\n\nReply with the JSON object only: {"score": <0..1>, "reasoning": "<short>"}.`;

/** Providers reject messages without text. */
const NO_ANSWER = '(no answer)';

const promptOf = (inputs: readonly string[]): string =>
  inputs.length > 1
    ? inputs.map((input, index) => `Turn ${index + 1} (user): ${input}`).join('\n\n')
    : (inputs[0] ?? '');

const message = (id: string, role: Role, text: string): Message => ({
  id,
  role,
  content: [{ type: 'text', text }],
});

export const createQuestion = (
  { inputs, answer, rubric }: Judged,
  session: NonNullable<InferenceRequest['session']>,
): InferenceRequest => ({
  system: [SYSTEM],
  messages: [
    message('prompt', 'user', promptOf(inputs)),
    message('answer', 'assistant', answer.trim() === '' ? NO_ANSWER : answer),
    message('rubric', 'user', instruction(rubric)),
  ],
  tools: [],
  overrides: {},
  session,
});

/** @throws errors of the model, or, after `answered` was called, Error if the completion is not a verdict */
export const judge = async (
  model: Model,
  request: InferenceRequest,
  signal: AbortSignal,
  answered: (end: InferenceEnd) => void,
): Promise<Verdict> => {
  let text = '';
  const end = await model.stream(
    request,
    {
      ...NOOP_SINK,
      text(delta) {
        text += delta;
        if (text.length > BOUNDS.answerLength) throw new Error('the answer of the judge has no end');
      },
      reset() {
        text = '';
      },
    },
    signal,
  );
  answered(end);
  return verdictIn(text);
};

const Answer = z.object({ score: z.number(), reasoning: z.string().nullish() });

/** @throws Error */
export const verdictIn = (text: string): Verdict => {
  let given: unknown;
  try {
    given = JSON.parse(withoutFence(text));
  } catch {
    throw new Error(`the judge did not answer with JSON: ${excerpt(text, MOST_QUOTED)}`);
  }
  const parsed = Answer.safeParse(given, phrases);
  if (!parsed.success) throw new Error(`the judge gave no verdict: ${describeIssues(parsed.error)}`);
  const { score, reasoning } = parsed.data;
  return { score: Math.min(1, Math.max(0, score)), reasoning: reasoning ?? undefined };
};

const MOST_QUOTED = 200;

/** The input that requests a revised completion on the same thread. */
export const createRevisionInput = (
  answer: string,
  { score, reasoning }: Verdict,
  threshold: number,
): string =>
  [
    'Your previous answer was judged and is not good enough yet. Revise it.',
    `Previous answer:\n${answer}`,
    `Score: ${score} (at least ${threshold} is wanted)`,
    ...(reasoning ? [`Reasoning of the judge: ${reasoning}`] : []),
    'Reply with the revised answer only.',
  ].join('\n\n');
