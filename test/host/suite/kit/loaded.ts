import { Session } from 'node:inspector';

/** Every script that this extension host has loaded, by its address. */
export function loadedScripts(): readonly string[] {
  const session = new Session();
  const urls: string[] = [];
  session.connect();
  try {
    session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
    // It tells of all that are there already before it returns.
    session.post('Debugger.enable');
    session.post('Debugger.disable');
  } finally {
    session.disconnect();
  }
  return urls;
}
