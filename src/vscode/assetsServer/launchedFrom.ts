/** Which folder of the extension the launcher starts the server from; unknown as long as there is no launcher. */
export const LAUNCHED_FROM = 'assetsServer.launchedFrom';
