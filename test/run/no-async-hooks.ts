import hooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

/**
 * tap tracks every promise to assign thrown errors to tests, which takes a quarter of the CPU time of tests that mostly
 * wait. In a worker one file runs at a time, so errors are assigned without it (`worker.ts`). Must be loaded before
 * tap.
 */
const none: hooks.AsyncHook = { enable: () => none, disable: () => none };

hooks.createHook = () => none;
syncBuiltinESMExports();
