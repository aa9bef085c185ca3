import { Unauthorized } from '../../schema/outcome.ts';

/** The reasons for which a token is rejected, in the order of the checks (identity.md 2.3). */
export type Reason =
  | 'form'
  | 'type'
  | 'crit'
  | 'issuer'
  | 'algorithm'
  | 'signature'
  | 'expired'
  | 'time'
  | 'audience'
  | 'claims'
  | 'scope';

export const invalidToken = (reason: Reason): Unauthorized =>
  new Unauthorized(`invalid token: ${reason}`, { reason: reason === 'expired' ? 'expired' : 'invalid' });
