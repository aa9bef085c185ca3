import type { Dispatch } from '../schema/dispatch.ts';

/**
 * A run that a tool call drives has no dispatch (runtime.md 5.4). Its execution gets a stand-in, which bears the id
 * of the run and is neither stored nor logged nor counted.
 */
type StandIn = Dispatch & { readonly stand_in: true };

export const standInFor = (dispatch: Dispatch): StandIn => ({ ...dispatch, stand_in: true });

export const isStandIn = (dispatch: Dispatch): dispatch is StandIn => 'stand_in' in dispatch;
