/** Flags of a node that collects garbage on a signal, to measure memory in use without garbage. */
export const COLLECTS = [
  '--expose-gc',
  "--import=data:text/javascript,process.on('SIGUSR2',()=>globalThis.gc())",
];

export const COLLECT = 'SIGUSR2';
