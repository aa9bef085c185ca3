import type { TicketExpiry } from '../../schema/run-event.ts';
import type { Rule } from './policy.ts';

/**
 * A ticket that does not wait for ever. When its time is over, whoever holds the run applies the outcome like a
 * decision of a person. The time is a date, not a duration, so it means the same after a restart.
 */

export const expiryOf = (rule: Rule | undefined, now: number): TicketExpiry | undefined =>
  rule?.timeout_secs === undefined
    ? undefined
    : { at: now + rule.timeout_secs * 1000, outcome: rule.on_timeout === 'approve' ? 'resume' : 'cancel' };
