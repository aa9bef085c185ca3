import type { ResolvedAgent } from '../../loop/agent.ts';
import { Invalid } from '../../schema/outcome.ts';
import type { Submission } from './submission.ts';

/**
 * Rejects request options that an agent that runs elsewhere does not support (a2a.md 12.8).
 *
 * @throws Invalid with the code `capability_mismatch`
 */
export const refuseUnsupported = (
  { remote, spec }: ResolvedAgent,
  {
    decisions = [],
    frontend_tools = [],
    overrides,
  }: Pick<Submission, 'decisions' | 'frontend_tools' | 'overrides'>,
): void => {
  if (!remote) return;
  const features = [
    ...(decisions.length > 0 ? ['decisions'] : []),
    ...(frontend_tools.length > 0 ? ['frontend_tools'] : []),
    ...(overrides ? ['overrides'] : []),
  ];
  if (features.length === 0) return;
  const message = `agent '${spec.id}' backend does not support: ${features.join(', ')}`;
  throw new Invalid(message, { code: 'capability_mismatch' });
};
