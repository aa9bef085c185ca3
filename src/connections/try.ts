import { advance } from '../../machines/advance.ts';
import {
  type AuthorizationEvent,
  authorizationMachine,
  expiryOfTry,
  OFFER_LIMIT_MS,
} from '../../machines/authorization.ts';
import type { AuthorizationHead, AuthorizationState } from '../schema/authorization.ts';
import { NotFound } from '../schema/outcome.ts';

/** The transitions of authorizations as stored. */

const OPEN: ReadonlySet<AuthorizationState> = new Set(
  // The keys of the states are exactly the names of the states.
  (Object.keys(authorizationMachine.states) as AuthorizationState[]).filter((state) =>
    authorizationMachine.resolveState({ value: state, context: {} }).hasTag('open'),
  ),
);

/** Whether its try has not ended. */
export const isOpen = ({ state }: Pick<AuthorizationHead, 'state'>): boolean => OPEN.has(state);

/** @throws IllegalTransition */
export const afterEvent = <Row extends AuthorizationHead>(row: Row, event: AuthorizationEvent): Row => {
  const { value } = advance(authorizationMachine, { value: row.state, context: {} }, event);
  // Every state of this machine is atomic, so its value is a string.
  return { ...row, state: value as AuthorizationState };
};

/** Returns when the authorization expires, in milliseconds. */
export const expiryOf = ({
  offered_at,
  started,
}: Pick<AuthorizationHead, 'offered_at' | 'started'>): number =>
  expiryOfTry({ offered_at, started_at: started?.at });

/** Applies the time limits. */
export const sinceExpiry = <Row extends AuthorizationHead>(row: Row, now: number): Row =>
  isOpen(row) && expiryOf(row) <= now ? afterEvent(row, { type: 'EXPIRE' }) : row;

/** Returns when calls no longer wait for the authorization, in milliseconds. */
export const endOfOffer = ({ offered_at }: Pick<AuthorizationHead, 'offered_at'>): number =>
  offered_at + OFFER_LIMIT_MS;

/**
 * Returns the authorization with a new try, whose predecessor was not successful.
 * @throws NotFound if the account was connected, or the offer is over
 */
export const offeredAgain = <Row extends AuthorizationHead>(row: Row, offered_at: number): Row => {
  if (row.state === 'connected') throw new NotFound(`authorization '${row.id}' has ended: it is connected`);
  return { ...row, state: 'offered', offered_at, started: undefined };
};
