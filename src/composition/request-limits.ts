import type { Admission } from '../budgets/admission.ts';
import { spenderOf } from '../runtime/index.ts';
import type { BudgetSubject } from '../schema/budget.ts';
import { RateLimited } from '../schema/outcome.ts';
import { may, type Principal } from '../schema/principal.ts';
import type { RequestLimits } from '../schema/request-limits.ts';

/**
 * Binds the limits of budgets to requests (identity.md 5.1).
 *
 * Guarantees: no budget locks out a principal: `/v1/identity`, sign-in, and for principals with `configure:budgets` the
 * routes of budgets, are counted separately, by a limit that no entry changes.
 */
export const createRequestLimits = (
  { request, openStream, limitsRequests }: Pick<Admission, 'request' | 'openStream' | 'limitsRequests'>,
  now: () => number,
): RequestLimits => {
  const exempt = createExempt(now);
  return {
    request(principal, { path, params }) {
      if (!limitsRequests()) return;
      const subject = subjectOf(principal);
      if (isExempt(principal, path, params)) exempt(subject);
      else request(subject);
    },
    openStream: (principal) => openStream(subjectOf(principal)),
  };
};

const subjectOf = (principal: Principal): BudgetSubject => ({
  scope: principal.scope,
  ...spenderOf(principal),
  agent: '',
  model: '',
  run: '',
});

const isExempt = (principal: Principal, path: string, params: Readonly<Record<string, string>>): boolean => {
  if (path === '/v1/identity' || path === '/v1/session' || path.startsWith('/v1/session/')) return true;
  const isOfBudgets = path.startsWith('/v1/budgets/') || params.ns === 'budgets';
  return isOfBudgets && may(principal, ['configure', 'budgets']);
};

/** Requests per minute of one principal that no budget counts. */
const MOST_EXEMPT = 60;
const MINUTE = 60_000;

/** Number of principals from which those without recent requests are forgotten. */
const MOST_KEPT = 10_000;

/** A token bucket for each principal. */
const createExempt = (now: () => number) => {
  const fullAt = new Map<string, number>();
  const cost = MINUTE / MOST_EXEMPT;
  return ({ scope, user, key }: BudgetSubject): void => {
    const at = now();
    const name = `${scope}\0${user}\0${key}`;
    const level = Math.max(at, fullAt.get(name) ?? at);
    const wait = level - at - MINUTE + cost;
    if (wait > 0)
      throw new RateLimited(`at most ${MOST_EXEMPT} of these requests are allowed per minute`, {
        code: 'rate_limited',
        details: { bound: 'exempt_requests' },
        retryAfterSecs: Math.max(1, Math.ceil(wait / 1000)),
      });
    fullAt.delete(name);
    fullAt.set(name, level + cost);
    if (fullAt.size <= MOST_KEPT) return;
    const [oldest] = fullAt.keys();
    if (oldest !== undefined) fullAt.delete(oldest);
  };
};
