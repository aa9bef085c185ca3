import { z } from 'zod';
import { defineState } from '../../tools/state.ts';

/** The skills activated on a thread, in the order of their first activation (agent-loop.md 13, 14.3). */
export const skillsState = defineState({
  key: 'skills',
  scope: 'thread',
  schema: z.strictObject({
    active: z.array(z.string()),
    activations: z.array(
      z.strictObject({
        skill_id: z.string(),
        /** Instructions with the arguments filled in. */
        instructions: z.string(),
        /** Revision of the skill at its activation. */
        revision: z.string(),
      }),
    ),
  }),
});

export type SkillsState = z.infer<typeof skillsState.schema>;
export type Activation = SkillsState['activations'][number];

export const createSkillsState = (activations: readonly Activation[]): SkillsState => ({
  active: activations.map(({ skill_id }) => skill_id),
  activations: [...activations],
});
