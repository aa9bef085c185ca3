import { type ReactNode, useState } from 'react';
import { useResource } from '../data/queries.ts';
import { capabilities } from '../data/resources.ts';
import { Loaded } from '../design/Loaded.tsx';
import { useTexts } from '../i18n/locale.ts';
import { type Adapter, adaptersIn } from './adapters.ts';
import { Connected, type ConnectedModel } from './Connected.tsx';
import css from './ConnectModel.module.css';
import { ProviderCards } from './ProviderCards.tsx';
import { ProviderPanel } from './ProviderPanel.tsx';
import { texts } from './texts.ts';

export type ConnectModelProps = {
  /** Shows a conversation with the new agent in place; without it, there is a link to the playground. */
  hello?: (agentId: string) => ReactNode;
};

type Stage =
  | { at: 'cards' }
  | { at: 'provider'; adapter: Adapter }
  | { at: 'connected'; connected: ConnectedModel };

const CARDS: Stage = { at: 'cards' };

/** From a provider and its key to a model with an agent, in one place. */
const ConnectModel = ({ hello }: ConnectModelProps) => {
  const t = useTexts(texts);
  const query = useResource(capabilities);
  const [stage, setStage] = useState<Stage>(CARDS);
  const restart = (): void => setStage(CARDS);
  return (
    <section className={css.connect} aria-label={t('title')}>
      {stage.at === 'connected' && (
        <Connected connected={stage.connected} hello={hello} onAnother={restart} />
      )}
      {stage.at === 'provider' && (
        <ProviderPanel
          adapter={stage.adapter}
          onBack={restart}
          onConnected={(connected) => setStage({ at: 'connected', connected })}
        />
      )}
      {stage.at === 'cards' && (
        <Loaded query={query} off={capabilities.off}>
          {({ adapter_defaults }) => (
            <ProviderCards
              adapters={adaptersIn(adapter_defaults)}
              onChoose={(adapter) => setStage({ at: 'provider', adapter })}
            />
          )}
        </Loaded>
      )}
    </section>
  );
};

export default ConnectModel;
