import { buttonLook } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import texts from './texts.json' with { type: 'json' };
import { useDemoAgent } from './use-demo-agent.ts';

/** Links to the editor, with a copy of the demo agent or with an empty draft. */
export const AgentStep = () => {
  const t = useTexts(texts);
  const demo = useDemoAgent();
  return (
    <div className="row">
      <ScreenLink to={`/agents/new?from=${encodeURIComponent(demo)}`} className={buttonLook}>
        {t('agent.copy', { agent: demo })}
      </ScreenLink>
      <ScreenLink to="/agents/new" className={buttonLook}>
        {t('agent.blank')}
      </ScreenLink>
    </div>
  );
};
