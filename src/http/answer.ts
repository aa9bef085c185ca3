import type { Origin } from './origin.ts';
import type { WireRequest, WireResponse } from './wire.ts';

/** Handles a request. Everything except its body is read before the call returns, and exactly one response is sent. */
export type Answer = (res: WireResponse, req: WireRequest, from: Origin) => void;
