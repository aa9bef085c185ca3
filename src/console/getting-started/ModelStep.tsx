import ConnectModel from '../connect-model/ConnectModel.tsx';
import { Hello } from './HelloStep.tsx';

/** Connects a model in place and ends with a message to its agent. */
const ModelStep = () => (
  <ConnectModel hello={(agentId) => <Hello key={agentId} agentId={agentId} demoQuestion={false} />} />
);

export default ModelStep;
