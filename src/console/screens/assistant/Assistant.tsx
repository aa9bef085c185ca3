import { AssistantTalk } from '../../assistant/AssistantTalk.tsx';
import { useAssistant } from '../../assistant/chat.ts';
import { ConversationTools } from '../../assistant/Tools.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './Assistant.module.css';
import { Settings } from './Settings.tsx';
import { texts } from './texts.ts';

const Assistant = () => {
  const t = useTexts(texts);
  const talk = useAssistant();
  return (
    <div className={css.screen}>
      <header className={css.head}>
        <h1>{t('title')}</h1>
        <p>{t('purpose')}</p>
      </header>
      <div className={css.columns}>
        <section className={css.talk} aria-label={t('conversation')}>
          <div className={css.bar}>
            <h2>{t('conversation')}</h2>
            <ConversationTools talk={talk} />
          </div>
          <AssistantTalk talk={talk} />
        </section>
        <div className={css.side}>
          <Settings />
        </div>
      </div>
    </div>
  );
};

export default Assistant;
