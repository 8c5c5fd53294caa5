/** The key of the extension folder from which the launcher starts the server; unset if there is no launcher. */
export const LAUNCHED_FROM = 'assetsServer.launchedFrom';
