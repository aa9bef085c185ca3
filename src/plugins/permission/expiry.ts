import type { TicketExpiry } from '../../schema/run-event.ts';
import type { Rule } from './policy.ts';

/**
 * The expiry of a ticket with a timeout. When it passes, the process that owns the run applies the outcome like a
 * decision of a person. An absolute time keeps its meaning across a restart.
 */

export const createExpiry = (rule: Rule | undefined, now: number): TicketExpiry | undefined =>
  rule?.timeout_secs === undefined
    ? undefined
    : { at: now + rule.timeout_secs * 1000, outcome: isApprovedByTime(rule) ? 'resume' : 'cancel' };

const isApprovedByTime = ({ on_timeout, deciders }: Rule): boolean =>
  on_timeout === 'approve' && deciders !== 'others';
