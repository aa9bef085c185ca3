import type { Test } from 'tap';
import { isCluster } from '../cluster/mode.ts';
import { createClusterService } from './members.ts';
import { createProcess, type Service, type ServiceOptions } from './process.ts';

/** The service under attack: a process with a data directory, or a cluster if the mode of the tests is one. */
export const createService = (t: Test, options: ServiceOptions = {}): Promise<Service> =>
  isCluster ? createClusterService(t, options) : createProcess(t, options);
