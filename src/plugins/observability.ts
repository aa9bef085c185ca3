import { definePlugin } from './define.ts';

/** Marks an agent as observed; the runtime measures every run regardless. */
export const observabilityPlugin = definePlugin({ id: 'observability', create: () => ({}) });
