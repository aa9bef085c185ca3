import type { ResolvedAgent } from '../../loop/agent.ts';
import { modalityOf } from '../../schema/media.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { Submission } from './submission.ts';

/**
 * Rejects input of a modality that the model of the agent is known not to accept: its run, and every later run of the
 * thread, would fail.
 *
 * @throws Invalid with the code `capability_mismatch`
 */
export const refuseUnaccepted = (
  { accepts, spec, model }: Pick<ResolvedAgent, 'accepts' | 'spec' | 'model'>,
  { history = [], messages }: Pick<Submission, 'history' | 'messages'>,
): void => {
  if (!accepts) return;
  for (const { role, content } of [...history, ...messages]) {
    if (role !== 'user') continue;
    for (const [index, block] of content.entries()) {
      const modality = 'source' in block ? modalityOf(block) : 'text';
      if (modality === 'text' || accepts.includes(modality)) continue;
      const message =
        `content[${index}]: agent '${spec.id}' takes no ${modality} input: ` +
        `its model '${model.id}' accepts ${accepts.join(', ')}`;
      throw new Invalid(message, { code: 'capability_mismatch' });
    }
  }
};
