/** Flags of a node that collects its garbage when it is told to: memory in use, apart from what waits for that. */
export const COLLECTS = [
  '--expose-gc',
  "--import=data:text/javascript,process.on('SIGUSR2',()=>globalThis.gc())",
];

export const COLLECT = 'SIGUSR2';
