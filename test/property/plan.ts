import type { InferenceRequest } from '../../src/models/model.ts';
import { textOf } from '../../src/schema/message.ts';
import fc from '../random.ts';

/**
 * The plan of the model is part of the message: `m7:~ask,free|say` calls two tools, slowly, and then completes. So a
 * repeated attempt does the same in any process.
 */

const TOOLS = ['free', 'again', 'alone', 'ask', 'client', 'later', 'denied'] as const;
export type ToolName = (typeof TOOLS)[number];

const ENDS = ['say', 'flaky', 'broken', 'cut'] as const;

export type PlannedStep = {
  /** Waits until the test releases it. */
  slow: boolean;
  does: (typeof ENDS)[number] | readonly ToolName[];
};

const step = fc.record({
  slow: fc.boolean(),
  does: fc.oneof<fc.MaybeWeightedArbitrary<PlannedStep['does']>[]>(
    { weight: 6, arbitrary: fc.constant('say' as const) },
    {
      weight: 12,
      arbitrary: fc.array(fc.constantFrom(...TOOLS.slice(0, 6), 'ask', 'later', 'ask'), {
        minLength: 1,
        maxLength: 3,
      }),
    },
    { weight: 2, arbitrary: fc.constantFrom(...ENDS) },
    { weight: 1, arbitrary: fc.constant<ToolName[]>(['denied', 'free']) },
  ),
});

/** The plan as text of a message. */
export const plan: fc.Arbitrary<string> = fc
  .array(step, { minLength: 1, maxLength: 3 })
  .map((steps) =>
    steps
      .map(({ slow, does }) => (slow ? '~' : '') + (typeof does === 'string' ? does : does.join()))
      .join('|'),
  );

const parseStep = (text: string): PlannedStep => {
  const slow = text.startsWith('~');
  const does = text.replace('~', '');
  const end = ENDS.find((each) => each === does);
  const asked = does.split(',').flatMap((name) => TOOLS.filter((tool) => tool === name));
  return { slow, does: end ?? asked };
};

export type Planned = PlannedStep & {
  /** Identifies the message and the step; ids of calls start with it. */
  name: string;
};

const OVER: PlannedStep = { slow: false, does: 'say' };

/** The next step of the plan in the last user message. */
export const nextStep = ({ messages }: InferenceRequest): Planned => {
  const last = messages.findLastIndex(({ role, visibility }) => role === 'user' && visibility === undefined);
  const [message = '', text = ''] = textOf(messages[last]?.content ?? []).split(':');
  const index = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
  const found = text.split('|')[index];
  return { name: `${message}_${index}`, ...(found === undefined ? OVER : parseStep(found)) };
};
