/**
 * The test kit of embedding programs: scripted models, a manual clock, and a service for each test.
 *
 * `startTestTroupe` starts a service on a free port with a temporary folder. See guides/testing.md.
 *
 * @module troupe/testing
 */

export { ModelError } from '../models/errors.ts';
export type { InferenceRequest } from '../models/model.ts';
export { type Message, textOf } from '../schema/message.ts';
export type { Termination } from '../schema/run.ts';
export type { RunEvent } from '../schema/run-event.ts';
export { type FakeClock, fakeClock } from './clock.ts';
export type { Decision, RunInput } from './requests.ts';
export type { OpenRun, TestCall, TestRun } from './run.ts';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedTurn,
  scriptedModel,
  type Turn,
  type TurnCall,
} from './scripted-model.ts';
export { startTestTroupe, type TestTroupe, type TestTroupeOptions } from './troupe.ts';
